//! The words that the rules know: what each speaks for.
//!
//! Terms are separated by white space; `_` stands for the space inside a phrase, `*` at the end for any ending. All
//! are in lower case, and nouns in the singular: [`forms`](crate::words::forms) tries the plain form of a word too.

use retort_rubric::Domain;

/// Terms of a sub-domain.
pub(crate) struct Field {
    pub(crate) domain: Domain,
    /// Its place in [`Domain::subdomains`].
    pub(crate) subdomain: u8,
    /// What an instruction of the field demands, if nothing else is known: 1 to 5, as
    /// [`Difficulty::level`](retort_rubric::Difficulty::level). A judgement by hand from the levels' definitions.
    pub(crate) level: f64,
    /// Terms that hardly occur elsewhere.
    pub(crate) strong: &'static str,
    /// Terms that occur elsewhere too.
    pub(crate) weak: &'static str,
}

const fn field(domain: Domain, subdomain: u8, level: f64, strong: &'static str, weak: &'static str) -> Field {
    Field { domain, subdomain, level, strong, weak }
}

/// All sub-domains, in the order of [`Domain::ALL`] and [`Domain::subdomains`].
pub(crate) const FIELDS: [Field; 38] = [
    field(
        Domain::Language,
        0,
        2.2,
        "poem poet* haiku sonnet rhyme rhyming limerick verse stanza ballad acrostic couplet ode alliterat* iambic \
         villanelle free_verse",
        "metaphor simile lyric rhythm imagery syllable",
    ),
    field(
        Domain::Language,
        1,
        2.2,
        "novel novelist fiction fictional literature literary story stories storytelling fairy_tale fable \
         protagonist antagonist shakespeare* hamlet macbeth tolstoy dickens hemingway orwell plot_twist \
         short_story narrator synonym antonym grammar grammatic* punctuation spelling misspell* noun verb \
         adjective adverb pronoun preposition conjunction part_of_speech parts_of_speech paraphras* idiom \
         proverb palindrome anagram etymolog* vocabulary linguist* prefix suffix passive_voice active_voice \
         past_tense present_tense translat* thesaurus dialogue prose bookworm trilogy autobiography \
         flash_fiction",
        "sentence paragraph word phrase rewrite rephrase tone character plot narrative chapter author book \
         essay letter english language writing writer edit proofread quote fantasy dragon wizard fluent tense \
         rhetoric*",
    ),
    field(
        Domain::Culture,
        0,
        2.4,
        "painting painter sculpt* art_history artwork artist artistic renaissance_art impressionis* cubis* surrealis* \
         baroque picasso monet van_gogh da_vinci mona_lisa gallery museum watercolor watercolour fresco mural calligraphy \
         pottery ceramics origami photography photographer architect* fashion costume aesthetic* ballet choreograph* theatre \
         theater opera portrait drawing sketching visual_art craft",
        "art paint draw design color colour style canvas dance culture cultural creative exhibition dress tradition* \
         festival decorat* interior clothing outfit",
    ),
    field(
        Domain::Culture,
        1,
        1.6,
        "football soccer basketball baseball tennis golf cricket rugby hockey volleyball olympi* athlete nba nfl mlb fifa \
         world_cup super_bowl premier_league quarterback goalkeeper striker pitcher touchdown wicket home_run penalty_kick \
         boxing wrestl* badminton ski skiing snowboard* surfing skateboard* swimmer gymnast* referee chess champion_league \
         marathon_runner stadium grand_slam formula_1 sport sporting",
        "team player coach game match league season championship tournament score medal race fan club",
    ),
    field(
        Domain::Culture,
        2,
        1.7,
        "movie film cinema hollywood netflix tv television sitcom tv_show tv_series director actor actress \
         celebrit* oscar box_office screenplay anime manga comic_book superhero marvel disney star_wars \
         harry_potter lord_of_the_rings game_of_thrones podcast youtube* newspaper journalis* broadcast* \
         radio_show video_game gamer influencer instagram tiktok twitter facebook mass_media headline \
         blockbuster documentary fan_fiction reality_show tv_program travel_guide itinerary",
        "show series episode media news channel scene script review trailer post blog host press character \
         magazine streaming social_media travel vacation tourist tourism trip hotel",
    ),
    field(
        Domain::Culture,
        3,
        2.0,
        "music musical musician song singer album melody chord guitar piano violin drum orchestra symphony concerto beethoven \
         mozart bach jazz hip_hop rapper rap rock_band pop_music composer lyrics beatles songwriter saxophone cello flute \
         playlist concert music_theory key_signature bpm bassline karaoke reggae country_music blues_music",
        "band tune note beat tempo sing genre",
    ),
    field(
        Domain::Culture,
        4,
        1.6,
        "recipe cook cooking cuisine dish restaurant chef bake baking ingredient dessert cake bread pizza pasta sauce soup \
         salad sandwich chicken beef pork tofu cheese butter oven saucepan frying tablespoon teaspoon tbsp tsp breakfast \
         lunch dinner brunch cocktail wine beer coffee espresso tea chocolate cookie pancake noodle rice sushi curry taco \
         burger vegan_recipe kitchen garlic onion spice seasoning flavor flavour delicious tasty appetizer snack gourmet \
         marinate simmer",
        "food meal eat eating menu drink fruit vegetable sugar salt milk egg flour water sweet hungry apple banana orange \
         lemon fresh taste",
    ),
    field(
        Domain::Health,
        0,
        2.7,
        "healthcare health hospital nurse nursing patient clinic caregiver public_health first_aid hygiene \
         health_insurance medical_care pandemic covid* coronavirus quarantine wellness wellbeing well_being \
         dental dentist skincare insomnia pregnan* childbirth toddler_health smoking_cessation telemedicine \
         health_benefit healthy_lifestyle mental_wellness nausea medical_advice",
        "sleep pain stress skin doctor care baby elderly disabled injury safety mask smoking headache tired \
         hair",
    ),
    field(
        Domain::Health,
        1,
        3.6,
        "medicine medical medication disease symptom diagnos* cancer tumor tumour diabetes vaccin* antibiotic surgery surgeon \
         surgical clinical dosage pharmac* infection virus viral* bacterial hypertension asthma stroke cardiac \
         cardiovascular artery blood_pressure insulin chemotherapy epilep* arthritis migraine allerg* patholog* oncolog* \
         neurolog* psychiatr* anatomy spinal fracture anesthe* prescription ibuprofen aspirin paracetamol opioid therapy \
         syndrome chronic acute_pain lesion inflammat* immune immunity hormone thyroid kidney liver lung",
        "drug treatment blood heart brain body fever doctor cure trial bone tissue",
    ),
    field(
        Domain::Health,
        2,
        1.8,
        "exercise workout gym fitness yoga cardio jogging push_up pushup squat weightlifting muscle strength_training aerobic* \
         stretching treadmill pilates bodybuilding dumbbell marathon_training running_shoe plank warm_up",
        "training run running walk walking weight athletic stretch bike cycling swim swimming hike hiking",
    ),
    field(
        Domain::Health,
        3,
        2.2,
        "nutrition nutrient nutritious dietary vitamin protein carbohydrate carb calorie diet vegan vegetarian gluten keto \
         ketogenic weight_loss lose_weight obesity bmi fasting fiber fibre cholesterol omega_3 dietitian supplement \
         balanced_meal meal_plan superfood junk_food malnutrition",
        "healthy fat food sugar intake eat meal",
    ),
    field(
        Domain::History,
        0,
        3.0,
        "history histor* ancient medieval middle_ages roman_empire rome empire emperor pharaoh egyptian \
         dynasty war_of world_war wwi wwii ww2 civil_war cold_war revolution revolutionary colonial* colony \
         colonies slavery renaissance reformation crusade viking mongol ottoman byzantine napoleon* hitler \
         nazi* holocaust soviet ussr stalin lenin churchill lincoln george_washington jfk kennedy \
         civilization civilisation archaeolog* century 19th_century 18th_century 20th_century treaty treaties \
         independence monarch* kingdom battle conquest founding_fathers industrial_revolution \
         great_depression apartheid suffrage historian feudal* samurai aztec inca maya mesopotamia* \
         genghis_khan cleopatra caesar alexander_the_great berlin_wall vietnam_war ancient_rome \
         ancient_greece pyramid assassinat* expedition explorer columbus invention_of inventor origin_of \
         founder_of historic war_ii presidents_of tsar sultan shogun bolshevik confederate abolition* pilgrim \
         settlers",
        "war king queen ruler era president invasion born died founded ancestor army soldier general event \
         period timeline past",
    ),
    field(
        Domain::NaturalScience,
        0,
        3.4,
        "biology biolog* cell_membrane cells dna rna gene genes genetic* genome chromosome protein_synthesis enzyme \
         photosynth* mitochondri* organism evolution evolutionary darwin* natural_selection species bacteria microb* mitosis \
         meiosis mutation ecosystem neuron neural_pathway ecolog* zoolog* botan* phenotype genotype allele metabol* \
         homeosta* chlorophyll eukaryot* prokaryot* ribosome taxonomy amino_acid crispr stem_cell vertebrate",
        "cell plant animal insect human reproduction membrane tissue organ",
    ),
    field(
        Domain::NaturalScience,
        1,
        3.1,
        "earth_science geolog* earthquake volcano* tectonic mineral sediment* erosion climate_change global_warming \
         greenhouse carbon_dioxide co2 atmospher* meteorolog* weather hurricane tornado glacier ocean_current tsunami \
         fossil_fuel fossils ozone geograph* latitude longitude equator continent mountain_range igneous metamorphic \
         groundwater aquifer seismic plate_boundary carbon_footprint emission renewable_energy monsoon drought capital_of",
        "climate ocean soil rock river mountain island rain temperature wind desert environment environmental flood country \
         countries city sea lake map",
    ),
    field(
        Domain::NaturalScience,
        2,
        2.2,
        "wildlife forest rainforest jungle habitat endangered deforestation biodiversity mammal reptile amphibian bird eagle \
         penguin whale dolphin shark elephant lion tiger giraffe zebra monkey gorilla bear wolf fox deer snake lizard frog \
         turtle butterfly bee spider flower tree nature conservation national_park predator prey pollinat* coral_reef",
        "animal plant fish dog cat pet leaf garden park environment green beach river",
    ),
    field(
        Domain::NaturalScience,
        3,
        3.2,
        "astronom* planet solar_system galaxy galaxies star_cluster telescope black_hole supernova nebula orbit comet asteroid \
         meteor milky_way mars jupiter saturn venus uranus neptune pluto nasa spacecraft astronaut space_station \
         space_exploration cosmolog* big_bang light_year eclipse lunar exoplanet constellation astrophysic* hubble \
         interstellar moon",
        "space star sun earth rocket universe satellite",
    ),
    field(
        Domain::NaturalScience,
        4,
        3.7,
        "chemistry chemical chemi* molecule molecular atom atomic ion ionic covalent compound reaction_rate stoichiometr* \
         periodic_table element_symbol acid alkaline ph_level oxidation oxidiz* reduction_potential catalyst polymer organic_chemistry \
         hydrogen oxygen nitrogen sodium chlor* sulfur sulfuric carbonate hydroxide molar molarity mole_of titration isotope \
         electron_configuration benzene ethanol methane solvent solute electrolysis electrolyte enthalpy exothermic \
         endothermic distillation equilibrium_constant nmr spectroscop*",
        "reaction element acidbase solution gas liquid carbon base bond metal substance concentration mixture",
    ),
    field(
        Domain::NaturalScience,
        5,
        3.8,
        "physics physicist newton* einstein relativity quantum thermodynamic* entropy kinetic_energy potential_energy \
         momentum velocity acceleration gravity gravitation* electromagnet* magnetic_field electric_field photon electron \
         proton neutron particle wavelength frequency_of optic* refract* diffract* inertia torque friction pendulum \
         projectile nuclear fission fusion radioactiv* joule hertz pascal superconduct* schrodinger heisenberg \
         wave_function hamiltonian lagrangian boson quark doppler capacitor capacitance speed_of_light buoyan* fluid_dynamics \
         mechanics heat_capacity wave_particle angular",
        "force mass energy speed motion wave heat pressure light field object spring magnet kg temperature gravity_of",
    ),
    field(
        Domain::Math,
        0,
        3.1,
        "math mathematic* maths arithmetic algebra* geometr* calculus trigonometr* equation polynomial \
         quadratic logarithm integral derivative differential_equation matrix matrices eigenvalue eigenvector \
         vector_space theorem lemma corollary integer prime_number fraction numerator denominator decimal \
         percent percentage square_root cube_root triangle rectangle hypotenuse perimeter circumference \
         radius diameter polygon hexagon pentagon parallelogram factorial permutation combinatori* modulo \
         divisible divisor remainder divisibility perpendicular parallel_lines cosine sine tangent arctan \
         coordinate slope parabola ellipse hyperbola complex_number real_number rational_number irrational \
         sequence_of_numbers arithmetic_sequence geometric_sequence fibonacci inequality isomorphi* \
         homomorphi* topolog* manifold riemann* euler* abelian finite_field subgroup bijection injective \
         limit_of differentiate integrate how_many_more how_much_more in_total altogether \
         least_common_multiple greatest_common_divisor frac sqrt cdot simplify_the_expression \
         evaluate_the_expression solve_for",
        "number sum product multiply divide subtract add plus minus twice calculate compute solve angle area \
         volume length digit average ratio proportion how_many how_much formula circle square",
    ),
    field(
        Domain::Math,
        1,
        3.2,
        "logic logical syllogism premise deduc* propositional predicate_logic fallacy fallacies contradiction tautology \
         boolean_logic modus_ponens riddle puzzle brain_teaser sudoku knights_and_knaves truth_table entail* \
         first_order_logic inference logical_reasoning valid_argument necessary_condition sufficient_condition truth_teller",
        "implies conclude conclusion true false argument valid statement therefore infer reasoning if_and_only_if deduce clue",
    ),
    field(
        Domain::Math,
        2,
        3.4,
        "statistic* probabilit* standard_deviation variance median histogram regression correlation hypothesis_test \
         null_hypothesis p_value t_test confidence_interval normal_distribution gaussian bayes* poisson binomial sample_size \
         random_variable expected_value likelihood outlier percentile anova chi_square dice coin_flip coin_toss data_set \
         distribution_of markov_chain stochastic quartile",
        "mean mode average sample data survey random distribution chance population dataset likely",
    ),
    field(
        Domain::SocialScience,
        0,
        2.8,
        "business company companies startup start_up entrepreneur* corporate corporation ceo enterprise b2b stakeholder \
         swot business_plan business_model commerce e_commerce ecommerce retailer wholesale supplier merger acquisition \
         franchise small_business industry_analysis shareholder outsourc* invoice procurement competitor value_proposition \
         resume cover_letter job_interview job_description job_application hiring recruit* linkedin salary employer \
         employee coworker workplace promotion_at_work human_resources remote_work",
        "client customer product service market firm profit sale seller job career office work professional industry store \
         shop meeting boss manager position interview",
    ),
    field(
        Domain::SocialScience,
        1,
        3.0,
        "finance financial invest* stock_market stocks bond_yield portfolio bank banking loan mortgage interest_rate \
         compound_interest credit_card credit_score budget savings_account retirement 401k ira dividend hedge_fund mutual_fund \
         etf cryptocurrenc* bitcoin ethereum accounting accountant balance_sheet cash_flow income_statement audit* tax \
         taxes irs insurance debt equity venture_capital asset liabilit* depreciation npv roi",
        "money price cost income revenue fund save pay payment dollar cash currency expense account stock credit interest",
    ),
    field(
        Domain::SocialScience,
        2,
        3.5,
        "economic* economy economist inflation deflation gdp gross_domestic_product recession unemployment supply_and_demand \
         monetary_policy fiscal_policy central_bank federal_reserve microeconomic* macroeconomic* keynes* elasticity monopol* \
         oligopol* tariff trade_deficit opportunity_cost marginal free_market capitalis* globalization minimum_wage \
         income_inequality labor_market game_theory nash_equilibrium externalit* exchange_rate money_supply",
        "demand supply trade growth poverty wage consumer production inequality resource market labor",
    ),
    field(
        Domain::SocialScience,
        3,
        3.7,
        "law lawyer attorney legal legally court judge_ruled jury lawsuit plaintiff defendant statute litigation contract \
         constitution* amendment supreme_court copyright patent trademark intellectual_property negligence tort liability \
         felony misdemeanor crime criminal prosecut* sentenced verdict jurisdiction legislation legislature regulation \
         hearsay appellate due_process divorce custody landlord tenant eviction gdpr subpoena testimony illegal police \
         prison murder theft evidence_law warrant",
        "right rights rule agreement policy justice clause guilty act case property",
    ),
    field(
        Domain::SocialScience,
        4,
        3.0,
        "politic* government democracy democratic republican democrat election vote voter voting campaign_trail senator senate \
         congress parliament prime_minister foreign_policy diplomacy diplomat* united_nations nato geopolitic* sovereignty \
         socialis* communis* conservatism liberalism fascis* authoritarian dictator* immigration refugee gun_control \
         protest activism activist feminis* gender_equality racism racial discrimination civil_rights human_rights lgbt* \
         obama trump biden putin brexit lobbying public_policy welfare sociolog* society social_science anthropolog* \
         gender transgender ethnic* minority minorities stereotype",
        "president policy state party citizen freedom nation public community leader reform social muslim immigrant black \
         white women men country power",
    ),
    field(
        Domain::Technology,
        0,
        2.8,
        "agricultur* farm farmer farming crop harvest irrigation fertilizer fertiliser pesticide livestock cattle dairy_farm \
         tractor soil_fertility horticultur* gardening organic_farming seedling greenhouse_farming agronom* hydroponic* \
         crop_rotation wheat corn_field beekeeping poultry",
        "plant garden grow seed soil cow field tomato lawn",
    ),
    field(
        Domain::Technology,
        1,
        2.4,
        "marketing marketer advertis* ad_campaign brand branding slogan tagline seo search_engine social_media_strategy \
         target_audience copywrit* email_campaign landing_page product_launch market_research content_strategy sales_pitch \
         call_to_action conversion_rate product_description product_name promotional customer_segment motto newsletter \
         hashtag influencer_marketing press_release elevator_pitch",
        "campaign audience product customer promote promotion ad logo sale launch feature catchy website review feedback \
         service social_media post",
    ),
    field(
        Domain::Technology,
        2,
        2.7,
        "management project_management manager leadership agile scrum kanban gantt supply_chain logistic* \
         inventory workflow productivity time_management team_building stakeholder_management risk_management \
         organizational kpi okr milestone deadline delegation performance_review quality_control \
         change_management schedule to_do_list todo_list agenda meeting_notes",
        "plan project task process strategy organize organise improve efficient leader goal priority report \
         meeting resource checklist role operation team implement efficiency develop",
    ),
    field(
        Domain::Technology,
        3,
        2.9,
        "electronic* smartphone iphone android laptop computer_hardware processor cpu gpu motherboard \
         semiconductor transistor circuit resistor voltage led_light microcontroller arduino raspberry_pi \
         battery charger bluetooth wifi wi_fi router sensor robot* drone television_set headphone microphone \
         camera printer usb hdmi bandwidth 5g internet_of_things smart_home gadget macbook ipad tablet_device \
         wireless computer internet cybersecurity encryption password hacker cloud_computing virtual_reality \
         augmented_reality artificial_intelligence chatbot gpt* chatgpt ai_model language_model blockchain \
         software app operating_system windows_10 technology technologies tech digital iot gadgets 3d_printer \
         website web_app mobile_app user_interface ux gps internet_connection tech_company social_network \
         self_driving_car",
        "device phone signal screen network online web website tool technological ai machine hardware data \
         user browser download install update",
    ),
    field(
        Domain::Technology,
        4,
        3.6,
        "engineer engineering mechanical civil_engineering structural bridge_design turbine combustion \
         aerospace aviation aircraft airplane thermoplastic steel concrete load_bearing cad \
         hydraulic* pneumatic* hvac wind_turbine solar_panel power_plant power_grid electric_vehicle \
         electric_car automotive car_engine transmission manufactur* materials_science control_system \
         pid_controller finite_element prototype construction machine_learning deep_learning neural_network \
         transformer_model data_science nuclear_reactor self_driving autonomous nanotechnolog* biotechnolog* \
         engineering_design renewable robot_arm propulsion infrastructure sustainable_design \
         wastewater water_treatment",
        "engine machine design build material system car vehicle electric motor pump pipe bridge technical \
         train power innovation transport* factory develop test_the scale component",
    ),
    field(
        Domain::Coding,
        0,
        3.8,
        "code coding programmer programming python javascript typescript java c++ c# golang rust_lang php \
         ruby_on_rails sql mysql postgresql html css json xml yaml bash powershell regex regular_expression \
         algorithm data_structure array linked_list binary_tree hashmap hash_table recursion recursive \
         compiler debug debugging bug_in api rest_api backend frontend front_end react node_js django flask \
         numpy pandas pytorch tensorflow docker kubernetes git github repository unit_test pseudocode \
         source_code codebase subroutine for_loop while_loop if_statement variable_name object_oriented \
         class_method inheritance polymorphism syntax_error runtime_error stack_trace null_pointer \
         time_complexity big_o dynamic_programming depth_first breadth_first binary_search sorting_algorithm \
         leetcode test_case stdin stdout printf println console_log def_main int_main dataframe async \
         thread_safe multithread* multiprocessing latex_code spreadsheet_formula excel_formula shell_script \
         command_line linux unix terminal_command database_schema query_language select_from smart_contract \
         solidity verilog matlab haskell kotlin swift_code substring ascii nums arr return_true",
        "function program script string loop variable parameter integer query database server command compile \
         import implement bug framework web_page website developer software node binary stack queue excel",
    ),
    field(
        Domain::Humanities,
        0,
        1.9,
        "communication communicate email e_mail letter_to speech public_speaking toast_speech conversation \
         small_talk apology apologize thank_you_note invitation body_language listener chat dialogue reply \
         negotiat* persuasive presentation announcement polite politely empathetic customer_service greeting \
         compliment icebreaker text_message condolence debate sincerely dear pick_up_line etiquette",
        "message talk friend speak letter write_to wedding invite birthday congratulat* joke funny guest \
         party",
    ),
    field(
        Domain::Humanities,
        1,
        2.4,
        "education educational teacher student school classroom curriculum homework lesson_plan lesson \
         university college professor tutor* pedagog* kindergarten preschool elementary_school high_school \
         grade_level graduat* scholarship exam academic thesis dissertation syllabus textbook literacy \
         e_learning study_habit learner quiz coursework gpa tuition flashcard research_paper",
        "learn learning teach study course kid child children grade",
    ),
    field(
        Domain::Humanities,
        2,
        2.8,
        "religion religious christian* church bible biblical jesus christ god gods islam* muslim quran koran mosque jewish \
         judaism torah buddh* hindu* prayer pray faith theolog* pope catholic protestant priest saint angel afterlife \
         karma nirvana mythology zeus deity scripture gospel spiritual* atheis* ritual sin heaven hell meditation",
        "belief soul holy sacred temple myth spirit worship easter christmas",
    ),
    field(
        Domain::Humanities,
        3,
        2.7,
        "psycholog* cognitive behavior behaviour behavioral emotion emotional anxiety anxious depression depressed \
         mental_health personality freud jung motivation self_esteem trauma therapist counseling ptsd adhd autism memory_loss \
         procrastinat* loneliness grief relationship attachment introvert extrovert habit bias cognitive_bias placebo_effect \
         subconscious burnout mindset mindfulness happiness self_confidence empathy narcissis* parenting breakup",
        "feel feeling mind mood happy sad angry stress mental fear upset confident thinking motivated friend family \
         girlfriend boyfriend husband wife love lonely marriage parent dating",
    ),
    field(
        Domain::Humanities,
        4,
        3.3,
        "philosoph* plato aristotle socrates kant* nietzsche descartes hume existential* metaphysic* epistemolog* \
         consciousness free_will determinis* meaning_of_life utilitarian* stoic* nihilis* ontolog* phenomenolog* \
         thought_experiment mind_body dualism sartre wittgenstein hegel* confuc* taois* truth_claim absurdism paradox \
         hedonis* rationalis* empiricis*",
        "existence truth reality wisdom thinker life meaning exist human",
    ),
    field(
        Domain::Humanities,
        5,
        2.6,
        "ethic* moral* unethical immoral virtue dilemma trolley_problem euthanasia abortion animal_rights \
         animal_testing integrity honesty conscience social_responsibility bioethic* death_penalty \
         capital_punishment good_and_evil offensive hateful",
        "fair fairness justice wrong responsibility duty harm respect value should lie cheat cheating steal \
         dishonest appropriate controversial right_or_wrong",
    ),
];

/// A kind of task, or a property of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cue {
    Fiction,
    Ideas,
    Rewrite,
    Summary,
    Translate,
    Sort,
    Choose,
    Advice,
    Steps,
    Explain,
    Compare,
    Fact,
    Opinion,
    Plan,
    Message,
    Essay,
    Program,
    Repair,
    Sum,
    Proof,
    Riddle,
    Extract,
    Brief,
    Detailed,
    Limits,
    Unknowable,
    Risk,
    Advise,
    Child,
    Everyday,
    Advanced,
    Contest,
    Professional,
    Trivial,
}

/// All cues in the order of their numbers.
pub(crate) const CUES: [(Cue, &str, &str); 34] = [
    (
        Cue::Fiction,
        "asks for something invented",
        "write_a_story write_a_short_story write_a_poem compose_a poem haiku limerick song_lyrics \
         write_a_song fairy_tale write_a_scene write_a_script fan_fiction imagine pretend role_play roleplay \
         act_as write_a_joke tell_me_a_joke joke story_about short_story plot_for rap_battle dialogue_between \
         in_the_style_of creative_writing write_a_novel humorous funny parody screenplay sonnet ballad ode \
         lyrics rhyme fable write_an_ending continue_the_story",
    ),
    (
        Cue::Ideas,
        "asks for ideas",
        "brainstorm ideas idea_for come_up_with suggest_a suggest_some suggest_ways invent slogan tagline \
         motto catchy name_for title_for creative unique original think_of new_ways innovative names_for \
         propose design_a metaphor analogy alternative_to puns pun what_if imaginative vision future \
         invention reimagine how_would_you how_might new_idea improve_upon inspire inspiring metaphorical",
    ),
    (
        Cue::Rewrite,
        "asks to change a text",
        "rewrite rephrase paraphrase edit_the edit_this proofread correct_the fix_the_grammar grammar improve_the \
         convert_the make_the_following change_the reword simplify_the_text shorten polish revise fill_in_the_blank \
         complete_the_sentence replace_the transform_the turn_the",
    ),
    (
        Cue::Summary,
        "asks for a summary",
        "summarize summarise summary tl_dr tldr abstract_of main_idea key_points main_points gist condense recap",
    ),
    (
        Cue::Translate,
        "asks for a translation",
        "translate translation into_english into_spanish into_french into_german",
    ),
    (
        Cue::Sort,
        "asks to label or sort things",
        "classify categorize categorise label_the sentiment is_the_following determine_whether decide_whether \
         decide_if determine_if identify_whether category_of rank_the sort_the which_category positive_or_negative \
         true_or_false yes_or_no spam odd_one_out group_the predict_whether detect",
    ),
    (
        Cue::Choose,
        "asks to choose among options",
        "choose_the select_the which_of_the options: option_a choices: answer_choices multiple_choice pick_the \
         which_option following_options correct_option best_option choose_from best_answer",
    ),
    (
        Cue::Advice,
        "asks for advice",
        "should_i how_can_i how_do_i how_should_i what_should_i advice recommend recommendation tips help_me \
         can_i what_can_i best_way my_friend my_boss my_wife my_husband i_am_trying i_want_to i_need_to \
         i_feel is_it_ok how_to_deal worth_it i_have_a suggestions broken stopped_working won't_start \
         my_laptop my_phone my_computer my_car my_landlord my_dog my_cat",
    ),
    (
        Cue::Steps,
        "asks how to do something",
        "how_to step_by_step steps instructions recipe tutorial guide_to procedure walk_me_through",
    ),
    (
        Cue::Explain,
        "asks for an explanation",
        "explain explanation describe why how_does how_do what_causes elaborate discuss tell_me_about reason_for reasons \
         what_happens clarify interpret analyze analyse overview background introduction_to mechanism role_of",
    ),
    (
        Cue::Compare,
        "asks for a comparison",
        "compare contrast difference_between differences versus vs pros_and_cons advantages disadvantages similarities \
         better_than trade_offs",
    ),
    (
        Cue::Fact,
        "asks for a fact",
        "who_is who_was who_wrote who_invented when_did when_was what_year where_is where_was what_is_the what_are_the \
         which_country what_was what_does capital_of how_old how_tall how_far name_the define definition what_is_a what_is \
         which_is list_the what_were how_long how_big facts who_are",
    ),
    (
        Cue::Opinion,
        "asks for a view",
        "what_do_you_think opinion argue argument do_you_agree do_you_believe debate perspective persuade critique evaluate \
         implications impact_of effect_of future_of convince review_of",
    ),
    (
        Cue::Plan,
        "asks for a plan",
        "plan_a plan_for itinerary schedule agenda outline strategy lesson_plan meal_plan to_do checklist workout_plan \
         business_plan roadmap budget_for organize",
    ),
    (
        Cue::Message,
        "asks for a message to somebody",
        "email e_mail letter speech tweet reply text_message cover_letter invitation announcement thank_you apology \
         response_to write_to blog_post linkedin_post press_release newsletter product_description advertisement caption \
         job_description post_about write_a_review",
    ),
    (
        Cue::Essay,
        "asks for an essay",
        "essay article report_on write_about paragraph_about blog research_paper biography thesis",
    ),
    (
        Cue::Program,
        "asks for code",
        "write_a_function write_a_program write_a_script write_code python_function python_program python_script sql_query \
         implement regex regular_expression javascript_function java_program write_a_python write_a_java write_an_sql \
         write_a_class c_program write_a_sql html_page pseudocode a_function_that a_program_that return_the given_an_array \
         given_a_string def return algorithm complete_the_function",
    ),
    (
        Cue::Repair,
        "asks what is wrong with code",
        "debug bug fix_the_code error_message traceback exception refactor optimize_the_code what_does_this_code \
         explain_the_code find_the_error code_review does_not_work doesn't_work not_working",
    ),
    (
        Cue::Sum,
        "asks to calculate",
        "how_many how_much calculate compute solve find_the_value evaluate in_total altogether what_is_the_probability \
         what_is_the_value solve_for simplify find_the_sum what_percent what_fraction how_much_does find_all \
         average_speed find_the_number find_the_area differentiate integrate round_your",
    ),
    (
        Cue::Proof,
        "asks for a proof",
        "prove proof show_that disprove derive demonstrate_that counterexample deduce verify_that",
    ),
    (
        Cue::Riddle,
        "asks to reason from given facts",
        "riddle puzzle logic_puzzle if_all premise premises what_can_be_concluded conclude conclusion entail contradict \
         infer inference which_statement who_is_the tallest logically sequence next_number what_comes_next pattern",
    ),
    (
        Cue::Extract,
        "asks to find something in a text",
        "extract find_the identify_the highlight list_all according_to based_on_the given_the_text from_the_text \
         from_the_passage following_passage read_the in_the_passage in_the_text given_text mentioned keywords_from article: \
         passage: context: text: paragraph: table: premise: question:",
    ),
    (
        Cue::Brief,
        "asks for a short answer",
        "brief briefly concise concisely short in_one_sentence one_word in_a_sentence in_a_few_words tl_dr single_sentence \
         one_sentence title headline slogan tagline tweet keyword quick in_short less_than_50 only_the subject_line acronym \
         name_for word_for synonym",
    ),
    (
        Cue::Detailed,
        "asks for detail",
        "in_detail detailed comprehensive thorough thoroughly in_depth complete_guide as_many examples several \
         list_of provide_a_list at_least comprehensively all_the elaborate make_a_list give_a_list top_10 top_5 top_ten",
    ),
    (
        Cue::Limits,
        "sets conditions on the answer",
        "must at_most exactly at_least no_more_than fewer_than do_not don't avoid without_using make_sure ensure \
         in_the_form format following_format bullet bullet_points include table constraints you_must each_of only_use \
         words_or_less json markdown the_following given_the you_are_given you_will_be",
    ),
    (
        Cue::Unknowable,
        "asks what may have no answer",
        "will_happen who_will_win what_will right_now as_of_today my_name where_am_i how_old_am_i are_you \
         do_you_feel do_you_have have_you_ever can_you_see your_favorite your_favourite your_name \
         winning_lottery lottery_numbers stock_price next_year will_be_in in_2030 in_2050 in_2100 \
         is_there_a_god meaning_of_life after_death life_after_death aliens attached_image the_image \
         this_picture click_the the_link conspiracy time_travel bigfoot ghosts psychic sentient \
         current_weather real_time ai_language_model your_opinion your_feelings do_you_believe do_you_like \
         do_you_want do_you_prefer can_you_feel would_you_rather did_you_ever current_price latest_news \
         parallel_universe do_ghosts predict_the_future secretly cannot_be_determined not_enough_information \
         unanswerable if_possible insufficient",
    ),
    (
        Cue::Risk,
        "touches on danger, hatred or crime",
        "kill murder weapon bomb explosive gun suicide self_harm steal shoplift hack hacking phishing malware drug drugs \
         cocaine heroin meth poison torture kidnap stalk blackmail racist racism sexist sexism insult insults hate stupid \
         terrorist terrorism porn sex sexual rape nude naked slur genocide bully bullying cheat launder fraud scam illegal \
         ugly fat_people black_people white_people immigrants muslims jews gay gays lesbian transgender prostitut* abuse \
         stereotype stereotypes discriminat* offensive nazi crime criminal violent violence alcohol drunk prank revenge \
         address_of phone_number lie_to get_away_with assault toxic hateful dangerous unsafe overdose bypass crack counterfeit \
         torrent pirated lethal",
    ),
    (
        Cue::Advise,
        "touches on health, law or money, where a wrong answer does harm",
        "symptoms medication dose dosage pregnant my_doctor chest_pain prescription invest_in lawsuit \
         legal_advice sue side_effects diagnosis lose_weight depressed anxiety panic_attack treatment vaccine \
         ethical unethical moral morality religion religious gender race sexual_orientation immigration \
         controversial bias biased safe safety danger risk risks minority minorities disability disabled \
         mental_health refugees vaccines religions police war alcohol_use privacy consent fake_news political",
    ),
    (
        Cue::Child,
        "is for or about children",
        "5_year_old five_year_old like_i'm_five eli5 kids kindergarten for_children to_a_child toddler \
         for_beginners layman's layman simple_terms",
    ),
    (
        Cue::Everyday,
        "is about everyday life",
        "birthday dinner breakfast lunch party friend friends family house home weekend shopping vacation pet \
         dog cat car movie restaurant cook recipe gift wedding neighbor kitchen clothes bedroom morning \
         holiday garden girlfriend boyfriend mom dad mother father bus coffee shirt shoes bag apples candy \
         cookies marbles sandwich emoji emojis tweet favorite date grocery store weather money sleep job \
         phone clean cleaning room table walk school tired hungry rain game play television chair door bed",
    ),
    (
        Cue::Advanced,
        "uses terms of a degree course",
        "theorem lemma corollary eigen* asymptot* stochastic* hamiltonian lagrangian quantum \
         differential_equation topolog* manifold isomorph* homomorph* abelian finite_field galois hilbert \
         banach cohomolog* jurisprudence tort hearsay epistemolog* ontolog* phenomenolog* macroeconomic* \
         econometric* nash_equilibrium pathophysiolog* pharmacokinetic* etiology histolog* biochemi* \
         spectroscop* thermodynamic* enthalpy stoichiometr* crystallograph* genomic* transcription_factor \
         phosphorylat* neural_network backpropagation transformer reinforcement_learning convex np_hard \
         np_complete complexity_class cryptograph* distributed_system concurrency kernel compiler \
         semiconductor finite_element bayesian regression hypothesis_testing maximum_likelihood covariance \
         heteroscedastic* relativistic electromagnet* capacitance tensor gradient_descent derivative integral \
         riemann dynamic_programming graph_theory combinatori* appellate fiduciary statutory monetary_policy \
         differential plaintiff defendant amendment holomorphic measurable lebesgue shortest_path \
         spanning_tree concurrent mutex deadlock space_complexity time_complexity lock_free microservice \
         microservices eigenvalue linear_algebra posterior symbolism iambic counterpoint sonata hermeneutic* \
         dialectic* postmodern* postcolonial* marxis* utilitarian* deontolog* categorical_imperative \
         antitrust derivative_pricing amortiz* elasticity pathogen* receptor cytokine* synapse* \
         neurotransmitter* metabol* enzyme* isotope* ph algorithmic polymorphism recursion unitary conjugate \
         convergence inverse asymptote",
    ),
    (
        Cue::Contest,
        "is a contest problem",
        "test_cases input_format output_format sample_input sample_output input_specification constraints: \
         first_line_of_input modulo_10 print_a_single each_test_case standard_input olympiad aime imo putnam \
         positive_integers_such_that ordered_pairs find_the_number_of real_numbers_such_that the_first_line \
         the_only_line example_1 subarray subsequence 10_5 10_9 10_4 note_that_the queries lexicographically \
         such_that_the minimum_number_of maximum_number_of prime_numbers nonnegative positive_integer",
    ),
    (
        Cue::Professional,
        "is work of a trade or an office",
        "develop design analyze analyse evaluate strategy strategies optimize assess framework architecture methodology \
         implications critically policy proposal integrate scalable implementation analysis regulatory compliance \
         requirements specification infrastructure stakeholders research_paper literature_review hypothesis theoretical \
         quantitative efficient efficiency complexity sustainable industry technical advanced mechanism significance",
    ),
    (
        Cue::Trivial,
        "is easy for anyone",
        "hello_world odd_or_even color colour rhyme rhymes synonym antonym opposite spelling capitalize \
         alphabet emoji positive_or_negative yes_or_no true_or_false sentiment hello greeting \
         fill_in_the_blank odd_one_out bigger taller is_the_following_sentence funny joke birthday \
         print_hello my_name happy sad hungry animal animals number_of_letters one_word short_sentence \
         rewrite_the_sentence hashtag",
    ),
];
